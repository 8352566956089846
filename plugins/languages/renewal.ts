/** The operator's texts are looked at again and again while the server runs. */
import type { Config } from '../config/config.ts'
import type { House } from '../define-plugin.ts'

const longestPauseSeconds = 3600

/** Between two looks: whatever is due first, an hour at most. */
function pauseMs(config: Config): number {
  const { AUTH_MAILER_TEMPLATE_MAX_AGE: age, AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: retry } = config
  return Math.min(Math.max(Math.min(age, retry), 1), longestPauseSeconds) * 1000
}

/** From the start of the server, which waits for `first`, to its end. */
export function keepNew(
  house: House<'addHook' | 'config'>,
  { first, renew }: { first: () => Promise<void> | void; renew: () => Promise<void> },
): void {
  let timer: NodeJS.Timeout | undefined

  house.addHook('onReady', async () => {
    await first()
    timer = setInterval(() => void renew(), pauseMs(house.config)).unref()
  })
  house.addHook('onClose', async () => clearInterval(timer))
}
