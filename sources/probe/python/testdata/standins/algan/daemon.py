"""Stands in for algan's daemon by its command line: python -m algan.daemon."""
import sys

if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.read()
