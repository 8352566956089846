import { signedInPeople } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** What every page of an application asks: who is it? One person per connection. */
export const getUser: Scenario = {
  name: 'get-user',
  async prepare(target, { connections }) {
    const tokens = (await signedInPeople(target, connections)).map((person) => person.access_token)
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: '/user',
        token: tokens[connection] ?? '',
      }),
    }
  },
}
