// Command tenure.
package main

func main() {}
