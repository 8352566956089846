/** Reads custom languages again periodically. */
import type { Config } from '../../../config/groups/index.ts'
import type { Deps } from '../../define-plugin.ts'

const maxPauseSeconds = 3600

/** Until the first one expires, an hour at most. */
function pauseMs(config: Config): number {
  const { AUTH_MAILER_TEMPLATE_MAX_AGE: age, AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: retry } = config
  return Math.min(Math.max(Math.min(age, retry), 1), maxPauseSeconds) * 1000
}

/** Runs from server start, which waits for `first`, until the server closes. */
export function refreshPeriodically(
  deps: Deps<'addHook' | 'config'>,
  { first, renew }: { first: () => Promise<void> | void; renew: () => Promise<void> },
): void {
  let timer: NodeJS.Timeout | undefined

  deps.addHook('onReady', async () => {
    await first()
    timer = setInterval(() => void renew(), pauseMs(deps.config)).unref()
  })
  deps.addHook('onClose', async () => clearInterval(timer))
}
