BOXES = ()
