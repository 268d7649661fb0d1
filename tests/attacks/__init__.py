"""Files made to hurt: each is refused in one line, quickly, in little memory, leaving nothing behind."""
