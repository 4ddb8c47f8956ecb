package probe

import (
	"os"
	"strconv"
)

func userID() string { return strconv.Itoa(os.Getuid()) }
