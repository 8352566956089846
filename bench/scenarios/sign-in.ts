import { password, people } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** The right password, one person per connection. The password hash is most of the cost. */
export const signIn: Scenario = {
  name: 'sign-in',
  async prepare(target, { connections }) {
    const emails = (await people(target, connections)).map((person) => person.email)
    return {
      request: (_i, connection) => ({
        method: 'POST',
        path: '/token?grant_type=password',
        body: { email: emails[connection], password },
      }),
    }
  },
}
