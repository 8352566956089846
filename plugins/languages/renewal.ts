import type { House } from '../define-plugin.ts'
import type { OwnLanguages } from './own-languages.ts'

const longestPauseSeconds = 3600

/** From the start of the server to its end. The first mail finds the languages, or it is known that they cannot be had. */
export function keepLanguagesNew(house: House<'addHook' | 'config'>, own: OwnLanguages): void {
  if (own.tags.length === 0) return
  const { AUTH_MAILER_TEMPLATE_MAX_AGE: age, AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: retry } =
    house.config
  const pauseSeconds = Math.min(Math.max(Math.min(age, retry), 1), longestPauseSeconds)
  let timer: NodeJS.Timeout | undefined

  house.addHook('onReady', async () => {
    await own.renew()
    timer = setInterval(() => void own.renew(), pauseSeconds * 1000).unref()
  })
  house.addHook('onClose', async () => clearInterval(timer))
}
