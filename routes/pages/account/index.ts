/** The account page and the pages behind it. */
import apps from './apps.ts'
import changePassword from './change-password.ts'
import confirm from './confirm.ts'
import data from './data.ts'
import deletion from './deletion.ts'
import devices from './devices.ts'
import email from './email.ts'
import factors from './factors/index.ts'
import linked from './linked.ts'
import overview from './overview.ts'
import passkeys from './passkeys.ts'
import password from './password.ts'
import phone from './phone.ts'
import profile from './profile.ts'
import username from './username.ts'

export const accountPageRoutes = {
  overview,
  profile,
  email,
  username,
  phone,
  password,
  confirm,
  factors,
  changePassword,
  passkeys,
  devices,
  linked,
  apps,
  data,
  deletion,
}
