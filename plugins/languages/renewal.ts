import type { Config } from '../config/config.ts'
import type { House } from '../define-plugin.ts'
import type { OwnLanguages } from './own-languages.ts'

const longestPauseSeconds = 3600

/** Between two times that the operator's texts or templates are looked at: whatever is due first, an hour at most. */
export function renewalPauseMs(config: Config): number {
  const { AUTH_MAILER_TEMPLATE_MAX_AGE: age, AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: retry } = config
  return Math.min(Math.max(Math.min(age, retry), 1), longestPauseSeconds) * 1000
}

/** From the start of the server to its end. The first mail finds the languages, or it is known that they cannot be had. */
export function keepLanguagesNew(house: House<'addHook' | 'config'>, own: OwnLanguages): void {
  if (own.tags.length === 0) return
  let timer: NodeJS.Timeout | undefined

  house.addHook('onReady', async () => {
    await own.renew()
    timer = setInterval(() => void own.renew(), renewalPauseMs(house.config)).unref()
  })
  house.addHook('onClose', async () => clearInterval(timer))
}
