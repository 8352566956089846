import type { Load, Scenario } from '../core/scenario.ts'
import { adminListPages } from './admin-list-pages.ts'
import { getUser } from './get-user.ts'
import { putUser } from './put-user.ts'
import { refresh } from './refresh.ts'
import { signUp } from './sign-up.ts'
import { signUpAnonymous } from './sign-up-anonymous.ts'

const parts = [refresh, signUp, signUpAnonymous, getUser, putUser, adminListPages]

/**
 * What an application sends, in turn on all connections. Memory depends on the number of requests before, so it is
 * measured over minutes.
 */
export const mix: Scenario = {
  name: 'mix',
  isOptional: true,
  async prepare(target, plan) {
    const loads: Load[] = []
    for (const part of parts) loads.push(await part.prepare(target, plan))
    const getLoad = (i: number) => {
      const load = loads[i % loads.length]
      if (!load) throw new Error('the mix has no part')
      return load
    }
    const sent = new Map<number, Load>()
    return {
      request(i, connection) {
        const load = getLoad(i)
        sent.set(connection, load)
        return load.request(i, connection)
      },
      answered: (body, connection) => sent.get(connection)?.answered?.(body, connection),
    }
  },
}
