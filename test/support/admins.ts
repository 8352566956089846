/** Users with a role in the table of admins. */
import type { AdminRole } from '../../schemas/console/admin-role.ts'
import { asAdmin } from './admin.ts'
import { call } from './requests.ts'
import type { App } from './server.ts'
import { autoconfirm, confirmAddress, signedIn, signUpUser } from './users.ts'

export const withConsole = {
  ...autoconfirm,
  AUTH_CONSOLE_ENABLED: 'true',
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_EVENTS_ENABLED: 'true',
  AUTH_OAUTH_SERVER_ENABLED: 'true',
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** A user who signed up and was made an admin by a service. */
export async function createAdmin(app: App, role: AdminRole) {
  const { email, user } = await signUpUser(app)
  const { id } = user
  await confirmAddress(app, id)
  const made = await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role })
  if (made.statusCode !== 201) throw new Error(made.body)
  // The role ended the sessions from before.
  const session = await signedIn(app, email)
  const token = session.access_token
  return {
    id,
    session,
    email,
    request: (method: Method, url: string, payload?: object) =>
      call(app, url, payload, { method, token }),
  }
}

/** Removes the admins of other tests. */
export async function removeAdmins(app: App): Promise<void> {
  await app.db.deleteFrom('postern_admins').execute()
  await app.db.deleteFrom('postern_admin_links').execute()
}
