// Package probe is both ends of the socket between a program that is watched
// and whoever watches it. A Server belongs to the render and never makes it
// wait; a Source belongs to the dashboard and satisfies model's interface; a
// Watcher finds the sockets that there are. What travels is recorder's
// records, line by line, on a Unix socket that only one user may open.
package probe
