import { newEmail, password } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** A new address every time; with the confirmation mail unless the server confirms by itself. */
export const signUp: Scenario = {
  name: 'sign-up',
  async prepare() {
    return {
      request: () => ({ method: 'POST', path: '/signup', body: { email: newEmail(), password } }),
    }
  },
}
