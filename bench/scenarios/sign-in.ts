import type { Scenario } from '../core/scenario.ts'
import { password, users } from '../core/users.ts'

/** The correct password, one user per connection. The password hash is most of the cost. */
export const signIn: Scenario = {
  name: 'sign-in',
  async prepare(target, { connections }) {
    const emails = (await users(target, connections)).map((user) => user.email)
    return {
      request: (_i, connection) => ({
        method: 'POST',
        path: '/token?grant_type=password',
        body: { email: emails[connection], password },
      }),
    }
  },
}
