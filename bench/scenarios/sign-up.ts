import type { Scenario } from '../core/scenario.ts'
import { newEmail, password } from '../core/users.ts'

/** A new address every time, with the confirmation email unless the server autoconfirms. */
export const signUp: Scenario = {
  name: 'sign-up',
  async prepare() {
    return {
      request: () => ({ method: 'POST', path: '/signup', body: { email: newEmail(), password } }),
    }
  },
}
