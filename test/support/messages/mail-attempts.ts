/** Attempted emails, including those rolled back. */
import { until } from '../processes/until.ts'
import type { Built } from '../server.ts'
import { watchPool } from '../statements.ts'
import { waitForIdleQueue } from './mail-journeys.ts'

const claims = /^update "auth"\."postern_mail_messages" set "state" = /

/** Runs `act` when no email is queued, and waits until the server tries to lease one because of it. */
export async function waitForEmailAttempt(
  server: Built,
  act: () => Promise<unknown>,
): Promise<void> {
  await waitForIdleQueue(server)
  await watchPool(server.app.pool, async (trips) => {
    await act()
    const missing = 'no mail was attempted'
    await until(() => trips.some(({ texts }) => texts.some((text) => claims.test(text))), {
      everyMs: 5,
      missing,
    })
  })
}
