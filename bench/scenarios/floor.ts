import { Refused, type Scenario } from '../scenario.ts'

/** One person's row by id, from bench/floor-server.ts: what every other figure is a multiple of. */
export const floor: Scenario = {
  name: 'floor',
  async prepare(target) {
    const people = await target.call<{ id: string }[]>({ method: 'GET', path: '/people/' })
    if (people.length === 0) throw new Refused('there is nobody yet')
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: `/people/${people[connection % people.length]?.id}`,
      }),
    }
  },
}
