import type { Scenario } from '../core/scenario.ts'

/** A user without an address: a row and a session, no hash and no email. */
export const signUpAnonymous: Scenario = {
  name: 'sign-up-anonymous',
  async prepare() {
    return { request: () => ({ method: 'POST', path: '/signup', body: {} }) }
  },
}
