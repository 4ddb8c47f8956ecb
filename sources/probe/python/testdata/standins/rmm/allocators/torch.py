import driver
import rmm.mr


def allocate(ordinal, size):
    driver.activate(ordinal)
    rmm.mr.get_per_device_resource(ordinal).allocate(size)
    return ordinal


def deallocate(ordinal, pointer, size):
    rmm.mr.get_per_device_resource(ordinal).deallocate(pointer, size)


rmm_torch_allocator = (allocate, deallocate)
