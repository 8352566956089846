/** AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: templates are fetched anew before a mail needs them. */
import type { MailRenderer } from '../../mail/render.ts'
import type { House } from '../define-plugin.ts'
import { renewalPauseMs } from '../languages/renewal.ts'

/** From the start of the server to its end; a template that cannot be had delays neither. */
export function keepTemplatesNew(house: House<'addHook' | 'config'>, renderer: MailRenderer): void {
  const { config } = house
  if (!config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED) return
  const renew = () => void renderer.renewTemplates()
  let timer: NodeJS.Timeout | undefined

  house.addHook('onReady', async () => {
    renew()
    timer = setInterval(renew, renewalPauseMs(config)).unref()
  })
  house.addHook('onClose', async () => clearInterval(timer))
}
