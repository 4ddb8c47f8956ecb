package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError is one sentence on a flag that cannot be read.
func flagError(command *cobra.Command, err error) error {
	text := err.Error()
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		text = fmt.Sprintf("--%s %q: %s", value.GetFlag().Name, value.GetValue(), valueAdvice(value.GetFlag(), errors.Unwrap(value)))
	}
	return usageError{fmt.Sprintf("%s; %s --help lists what there is", text, command.CommandPath())}
}

// valueAdvice says how a flag's value is written. A cause of our own says so
// itself; the library's speak of its functions.
func valueAdvice(flag *pflag.Flag, cause error) string {
	if errors.Is(cause, strconv.ErrRange) {
		return "this number is too large or too small: write another"
	}
	switch flag.Value.Type() {
	case "int", "int64":
		return "write a whole number, such as 100"
	case "float64":
		return "write a number, such as 2.5"
	case "duration":
		return "write a time with its unit, such as 500ms, 10s or 5m"
	case "size":
		return "write a size, such as 512MiB, 2GiB, 2GB or plain bytes"
	case "bool":
		return "write true or false"
	}
	return cause.Error()
}

// notZero refuses flags that were given as 0, which would be taken as if they
// had not been given.
func notZero(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		flag := flags.Lookup(name)
		if !flag.Changed {
			continue
		}
		if number, err := strconv.ParseFloat(flag.Value.String(), 64); err == nil && number == 0 {
			return usageError{fmt.Sprintf("--%s 0: write more than 0, or leave it out", name)}
		}
	}
	return nil
}

// changedBut is the name of a flag that was given and is none of those, "" if
// there is none.
func changedBut(flags *pflag.FlagSet, allowed ...string) (name string) {
	// Not Visit: a set that cobra puts together from others has not seen them set.
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(allowed, flag.Name) {
			name = flag.Name
		}
	})
	return name
}

// noArguments is a check for commands that take flags alone.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usageError{fmt.Sprintf("%s takes no argument, %q is given: leave it out; see %s --help", command.Name(), arguments[0], command.CommandPath())}
	}
	return nil
}

// atMostOne is a check for commands that take one argument or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) > 1 {
			return usageError{fmt.Sprintf("%s takes one %s at most, %d given; see %s --help", command.Name(), name, len(arguments), command.CommandPath())}
		}
		return nil
	}
}
