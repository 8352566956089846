/** Delayed responses of the database, as over a slow network: outdated on arrival. */
import { setTimeout as pause } from 'node:timers/promises'

import type pg from 'pg'

import type { App } from './server.ts'
import { bufferedText } from './statements.ts'

/** Delays responses to statements that contain `text` by `delay()` milliseconds from now on. */
export function delayResponses(app: App, text: string, delay: () => number): void {
  const seen = new WeakSet<pg.PoolClient>()
  app.pool.on('acquire', (client) => {
    if (seen.has(client)) return
    seen.add(client)
    client.query = new Proxy(client.query, {
      async apply(query, self, args) {
        const isLate = bufferedText(args[0]).includes(text)
        const response: unknown = await Reflect.apply(query, self, args)
        if (isLate) await pause(delay())
        return response
      },
    })
  })
}
