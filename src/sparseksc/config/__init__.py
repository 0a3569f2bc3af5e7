"""What the user asks for: parameters, checked, and the plan that follows from them."""
