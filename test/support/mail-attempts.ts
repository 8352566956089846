/** Attempts at mails, also at those that were taken back and are not there. */
import { idle } from './mail-journeys.ts'
import type { Built } from './server.ts'
import { watchPool } from './statements.ts'
import { until } from './until.ts'

const claims = /^update "auth"\."postern_mail_messages" set "state" = /

/** Does `act` when no mail waits, and waits until the server tries to claim one because of it. */
export async function untilMailAttempted(
  server: Built,
  act: () => Promise<unknown>,
): Promise<void> {
  await idle(server)
  await watchPool(server.app.pool, async (trips) => {
    await act()
    const missing = 'no mail was attempted'
    await until(() => trips.flat().some((text) => claims.test(text)), { everyMs: 5, missing })
  })
}
