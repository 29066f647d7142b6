"""Log p(x | m), parameters and hidden values integrated out, in several ways; comparison."""
