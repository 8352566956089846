import { signedInPeople } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** A change of one's own metadata, another value every time. */
export const putUser: Scenario = {
  name: 'put-user',
  async prepare(target, { connections }) {
    const tokens = (await signedInPeople(target, connections)).map((person) => person.access_token)
    return {
      request: (i, connection) => ({
        method: 'PUT',
        path: '/user',
        token: tokens[connection] ?? '',
        body: { data: { theme: 'dark', visits: i } },
      }),
    }
  },
}
