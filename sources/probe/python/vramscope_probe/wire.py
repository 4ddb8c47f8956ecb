"""Records as lines: compact JSON in UTF-8, at most 1 MiB each, within what
recorder/FORMAT.md allows whatever an adapter hands in.
"""
import json
import re

PROTOCOL = 1  # the version that is written and read
MINIMUM_PROTOCOL = 1
MAX_LINE = 1 << 20  # bytes, without the line feed
INTEGER_LIMIT = 1 << 63  # integers are signed and have 64 bits
ROWS_A_PIECE = 2048  # rows of columns that fit a line for certain, with the longest numbers
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# Digits that may be more than 64 bits hold; what is beside them is no matter.
# Nearly no line has so many, which is seen much faster with every digit alike.
_alike = bytes.maketrans(b"123456789", b"000000000")
_long_number = re.compile(rb"[0-9]{20}|9(?:[3-9][0-9]|2[2-9])[0-9]{16}")


def encode_record(record):
    """The line of a record, a dict, with its line feed; None if it is too long
    for one."""
    line = _compact(record) + b"\n"
    return line if len(line) <= MAX_LINE + 1 else None


def encode_sample(record):
    """The line of a sample record. Sets whose text is made already (FacedSet)
    are not put into words again."""
    try:
        texts = [entry.text for entry in record["sets"]]
    except AttributeError:
        return encode_record(record)
    if "err" in record:
        return encode_record(record)
    text = '{"t":"s","src":"%s","ns":%d,"seq":%d,"sets":[%s]}\n' % (
        record["src"], record["ns"], record["seq"], ",".join(texts))
    line = text.encode("utf-8", "replace")
    if len(line) > MAX_LINE + 1 or _has_long_number(line):
        return encode_record(record)
    return line


def with_dropped(line, dropped):
    """The line of a sample, and how many before it were dropped; the line as it
    is where that would be too long."""
    longer = b'%s,"drop":%d}\n' % (line[:-2], dropped)
    return longer if len(longer) <= MAX_LINE + 1 else line


def encode_state(record):
    """The lines of a state: one, or parts that a reader joins."""
    line = encode_record(record)
    if line is not None:
        return [line]
    head = {key: record[key] for key in ("t", "src", "ns", "frame") if key in record}
    first = {key: record[key] for key in record if key not in ("arenas", "pools", "nonarena")}
    parts, size = [dict(first)], 4096
    for key in ("nonarena", "arenas", "pools"):
        for entry in record.get(key) or ():
            for piece in _pieces(entry):
                length = len(_compact(piece)) + 1
                if length > MAX_LINE - 8192:
                    continue  # no column of numbers: nothing that a reader could use
                if size + length > MAX_LINE - 4096:
                    parts.append(dict(head, cont=True))
                    size = 4096
                parts[-1].setdefault(key, []).append(piece)
                size += length
    for part in parts[:-1]:
        part["more"] = True
    return [line for line in map(encode_record, parts) if line is not None]


def encode_strings(src, ns, first, texts):
    """The lines of str records for texts, numbered from first."""
    lines, start, size = [], 0, 0
    for at, text in enumerate(texts):
        length = len(_compact(text)) + 1
        if size + length > MAX_LINE - 4096 and at > start:
            lines.append(encode_record({"t": "str", "src": src, "ns": ns, "first": first + start, "s": texts[start:at]}))
            start, size = at, 0
        size += length
    if start < len(texts):
        lines.append(encode_record({"t": "str", "src": src, "ns": ns, "first": first + start, "s": texts[start:]}))
    return [line for line in lines if line is not None]


def encode_ack(record):
    """The line of an answer. One that is too long gives up its counter sets,
    then its lines: what became of the command is always told."""
    for given_up in ((), ("before", "after"), ("before", "after", "result", "path")):
        line = encode_record({key: record[key] for key in record if key not in given_up})
        if line is not None:
            return line
    return encode_record(dict({key: record[key] for key in ("t", "src", "ns", "id", "cmd", "st")}, why="the answer is too long"))


def decode_line(line):
    """The record of a line, or None for a line that is none. A reader is not
    trusted: numbers beyond 64 bits, deep nesting and other types are no
    records."""
    try:
        record = json.loads(line.decode("utf-8"), parse_int=_bounded_integer, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    if isinstance(record, dict) and isinstance(record.get("t"), str):
        return record
    return None


def _compact(value):
    try:
        text = _encoder.encode(value)
    except (TypeError, ValueError, RecursionError):
        text = _written(value, 0)
    line = text.encode("utf-8", "replace")
    if _has_long_number(line):
        line = _written(value, 0).encode("utf-8", "replace")
    return line


def _has_long_number(line):
    return b"0" * 19 in line.translate(_alike) and _long_number.search(line) is not None


def _written(value, depth, in_list=False):
    """The text of a value that the standard encoder cannot write as the format
    wants it. Nothing of the value is called."""
    if value is None or depth > 30:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if -INTEGER_LIMIT <= value < INTEGER_LIMIT:
            return int.__repr__(value)
        return "0" if in_list else "null"  # a column keeps its length, a key is left out
    if isinstance(value, float):
        if value != value:
            return "null"
        if value in (float("inf"), float("-inf")):
            return "1e999" if value > 0 else "-1e999"
        return float.__repr__(value)
    if isinstance(value, str):
        return json.dumps(str.__str__(value), ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ",".join(_written(str(k), depth) + ":" + _written(v, depth + 1) for k, v in value.items()
                              if isinstance(k, (str, int))) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_written(v, depth + 1, True) for v in value) + "]"
    return json.dumps("<" + type(value).__name__ + ">")


def _pieces(entry):
    """An entry of a state as entries of the same id that each fit a line."""
    if len(_compact(entry)) < MAX_LINE // 4:
        return [entry]
    tables = ("tree", "abandoned", "seg", "blk")
    lists = ("marks", "open", "gens")
    pieces = [{key: entry[key] for key in entry if key not in tables and key not in lists}]
    for key in lists:
        for rows in _runs(entry.get(key) or ()):
            pieces.append({"id": entry["id"], key: rows})
    for key in tables:
        table = entry.get(key) or {}
        columns = {name: column for name, column in table.items() if name != "params"}
        for at in range(0, max(map(len, columns.values()), default=0), ROWS_A_PIECE):
            run = {name: column[at:at + ROWS_A_PIECE] for name, column in columns.items() if column}
            pieces.append({"id": entry["id"], key: run})
        for rows in _runs(table.get("params") or (), 16):
            pieces.append({"id": entry["id"], key: {"params": rows}})
    return pieces


def _runs(rows, size=ROWS_A_PIECE):
    return [rows[at:at + size] for at in range(0, len(rows), size)]


def _bounded_integer(digits):
    if len(digits) > 20:
        raise ValueError("an integer of more than 64 bits")
    return int(digits)


def _no_constant(name):
    raise ValueError(name)
