import { Pool } from 'undici'

import { describeResponse, exchange, type HttpRequest, type Response } from './exchange.ts'
import { Rejected } from './rejected.ts'

export type Target = ReturnType<typeof createTarget>

interface TargetOptions {
  name: string
  url: string
  connections: number
  /** A token the admin endpoints accept. */
  serviceRole?: string | undefined
  /** Where addresses can be confirmed manually on a server without admin endpoints. */
  databaseUrl?: string | undefined
}

/** A measured server, and the calls that prepare it. */
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

    /** One unmeasured request, whatever its status. */
    send(request: HttpRequest): Promise<Response> {
      return exchange(pool, prefix, request)
    },

    /** As send, parsed; throws Rejected unless the status is 2xx. */
    async call<T>(request: HttpRequest): Promise<T> {
      const response = await exchange(pool, prefix, request)
      if (response.status > 299) {
        const path = request.path.replace(/\?.*/, '')
        throw new Rejected(`${request.method} ${path}: ${describeResponse(response)}`)
      }
      return JSON.parse(response.body)
    },

    /** The token for admin endpoints; throws Rejected without one. */
    adminToken(): string {
      if (!serviceRole) throw new Rejected('needs --service-role or --jwt-secret')
      return serviceRole
    },

    close(): Promise<void> {
      return pool.close()
    },
  }
}
