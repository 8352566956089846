/** Answers of the database that take a while to arrive, as over a bad network: what they say is old by then. */
import { setTimeout as pause } from 'node:timers/promises'

import type pg from 'pg'

import type { App } from './server.ts'
import { heldText } from './statements.ts'

/** From now on, answers to statements that hold `text` come `delay()` milliseconds late. */
export function delayAnswers(app: App, text: string, delay: () => number): void {
  const seen = new WeakSet<pg.PoolClient>()
  app.pool.on('acquire', (client) => {
    if (seen.has(client)) return
    seen.add(client)
    client.query = new Proxy(client.query, {
      async apply(query, self, args) {
        const isLate = heldText(args[0]).includes(text)
        const answer: unknown = await Reflect.apply(query, self, args)
        if (isLate) await pause(delay())
        return answer
      },
    })
  })
}
