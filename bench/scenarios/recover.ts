import { peopleInBulk } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** A forgotten password. Every address is used once, since a second mail has to wait. */
export const recover: Scenario = {
  name: 'recover',
  async prepare(target, { stock }) {
    const emails = (await peopleInBulk(target, stock)).map((person) => person.email)
    return {
      stock,
      request: (i) => ({ method: 'POST', path: '/recover', body: { email: emails[i] } }),
    }
  },
}
