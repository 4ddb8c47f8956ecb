// Command vramscope shows what GPU memory does inside a program.
package main

func main() {}
