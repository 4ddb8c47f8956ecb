// Package open recognises a file by its content, never by its name, and hands
// it to its reader. What it knows and does not read, it names, and says what to
// do instead; nothing in a file is ever executed.
package open
