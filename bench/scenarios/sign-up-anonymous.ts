import type { Scenario } from '../scenario.ts'

/** A person without an address: a row, a session, no hash and no mail. */
export const signUpAnonymous: Scenario = {
  name: 'sign-up-anonymous',
  async prepare() {
    return { request: () => ({ method: 'POST', path: '/signup', body: {} }) }
  },
}
