package nvml

// call is one function of NVML that may be called.
type call uint8

// The calls.
const (
	callShutdown call = iota
	callDriverVersion
	callCount
	callHandle
	callUUID
	callName
	callPCI
	callBusType
	callAddressing
	callMIGMode
	callMIGCount
	callMIGHandle
	callInstance
	callCompute
	callMemoryV2
	callMemoryV1
	callUtilization
	callTemperature
	callPower
	callPowerLimit
	callClock
	callComputeProcesses
	callGraphicsProcesses
	callProcessUtilization
	callPCIe
	callEventTypes
	callEventSet
	callEventRegister
	callEventWait
	callEventFree
	callTotal
)

// symbolNames has the names under which the library may offer a call, newest
// first. go-nvml takes the newest that is there and the unversioned one if
// none is, so that a call is safe when any of its names is found.
var symbolNames = [callTotal][]string{
	callShutdown:           {"nvmlShutdown"},
	callDriverVersion:      {"nvmlSystemGetDriverVersion"},
	callCount:              {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"},
	callHandle:             {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"},
	callUUID:               {"nvmlDeviceGetUUID"},
	callName:               {"nvmlDeviceGetName"},
	callPCI:                {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"},
	callBusType:            {"nvmlDeviceGetBusType"},
	callAddressing:         {"nvmlDeviceGetAddressingMode"},
	callMIGMode:            {"nvmlDeviceGetMigMode"},
	callMIGCount:           {"nvmlDeviceGetMaxMigDeviceCount"},
	callMIGHandle:          {"nvmlDeviceGetMigDeviceHandleByIndex"},
	callInstance:           {"nvmlDeviceGetGpuInstanceId"},
	callCompute:            {"nvmlDeviceGetComputeInstanceId"},
	callMemoryV2:           {"nvmlDeviceGetMemoryInfo_v2"},
	callMemoryV1:           {"nvmlDeviceGetMemoryInfo"},
	callUtilization:        {"nvmlDeviceGetUtilizationRates"},
	callTemperature:        {"nvmlDeviceGetTemperature"},
	callPower:              {"nvmlDeviceGetPowerUsage"},
	callPowerLimit:         {"nvmlDeviceGetEnforcedPowerLimit"},
	callClock:              {"nvmlDeviceGetClockInfo"},
	callComputeProcesses:   {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"},
	callGraphicsProcesses:  {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses"},
	callProcessUtilization: {"nvmlDeviceGetProcessUtilization"},
	callPCIe:               {"nvmlDeviceGetPcieThroughput"},
	callEventTypes:         {"nvmlDeviceGetSupportedEventTypes"},
	callEventSet:           {"nvmlEventSetCreate"},
	callEventRegister:      {"nvmlDeviceRegisterEvents"},
	callEventWait:          {"nvmlEventSetWait_v2", "nvmlEventSetWait"},
	callEventFree:          {"nvmlEventSetFree"},
}

// symbolTable says which calls the loaded library offers. It does not change.
type symbolTable [callTotal]bool

// lookUpSymbols fills the table; lookUp returns an error for a name that the
// library does not have.
func lookUpSymbols(lookUp func(name string) error) symbolTable {
	var table symbolTable
	for c, names := range symbolNames {
		for _, name := range names {
			if lookUp(name) == nil {
				table[c] = true
				break
			}
		}
	}
	return table
}
