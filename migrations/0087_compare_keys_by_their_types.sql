-- svc_private.equality() tells Studio, too, how values of a type are compared.
drop function if exists svc_private.is_of_extension(text);
