import { Pool } from 'undici'

import { type Answer, describeAnswer, exchange, type HttpRequest } from './exchange.ts'
import { Refused } from './scenario.ts'

export type Target = ReturnType<typeof createTarget>

export interface TargetOptions {
  name: string
  url: string
  connections: number
  /** A token the admin endpoints accept. */
  serviceRole?: string | undefined
  /** Where addresses can be confirmed by hand on a server without admin endpoints. */
  databaseUrl?: string | undefined
}

/** A server that is measured, and the calls that prepare it. */
export function createTarget({ name, url, connections, serviceRole, databaseUrl }: TargetOptions) {
  const { origin, pathname } = new URL(url)
  const prefix = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, { connections })

  return {
    name,
    url,
    origin,
    prefix,
    serviceRole,
    databaseUrl,

    /** One request outside the measurement, whatever its status. */
    send(request: HttpRequest): Promise<Answer> {
      return exchange(pool, prefix, request)
    },

    /** As send, parsed; throws Refused unless the status is 2xx. */
    async call<T>(request: HttpRequest): Promise<T> {
      const answer = await exchange(pool, prefix, request)
      if (answer.status > 299) {
        const path = request.path.replace(/\?.*/, '')
        throw new Refused(`${request.method} ${path}: ${describeAnswer(answer)}`)
      }
      return JSON.parse(answer.body)
    },

    /** The token for the admin endpoints; throws Refused when none was given. */
    adminToken(): string {
      if (!serviceRole) throw new Refused('needs --service-role or --jwt-secret')
      return serviceRole
    },

    close(): Promise<void> {
      return pool.close()
    },
  }
}
