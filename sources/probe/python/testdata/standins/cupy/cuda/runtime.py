import driver


def free(pointer):
    """What programs call to have a context."""
    driver.activate(0)
