import { signedInPeople } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** Each connection is one session that goes on: every answer's refresh token is the next request's. */
export const refresh: Scenario = {
  name: 'refresh',
  async prepare(target, { connections }) {
    const tokens = (await signedInPeople(target, connections)).map((person) => person.refresh_token)
    return {
      request: (_i, connection) => ({
        method: 'POST',
        path: '/token?grant_type=refresh_token',
        body: { refresh_token: tokens[connection] },
      }),
      answered(body, connection) {
        tokens[connection] = JSON.parse(body).refresh_token
      },
    }
  },
}
