"""What a request costs at our doors, beside plain FastMCP and a bare Starlette route."""
