import type { Scenario } from '../core/scenario.ts'
import { bulkUsers } from '../core/users.ts'

/** A password recovery. Every address is used once, because a second email has to wait. */
export const recover: Scenario = {
  name: 'recover',
  async prepare(target, { stock }) {
    const emails = (await bulkUsers(target, stock)).map((user) => user.email)
    return {
      stock,
      request: (i) => ({ method: 'POST', path: '/recover', body: { email: emails[i] } }),
    }
  },
}
