delete from postern_sign_in_devices
where user_id = ?
