/** AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: templates are fetched anew before a mail needs them. */
import type { MailRenderer } from '../../mail/render.ts'
import type { House } from '../define-plugin.ts'
import { keepNew } from '../languages/renewal.ts'

/** A template that cannot be had does not delay the start. */
export function keepTemplatesNew(house: House<'addHook' | 'config'>, renderer: MailRenderer): void {
  if (!house.config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED) return
  const renew = () => renderer.renewTemplates()
  keepNew(house, { first: () => void renew(), renew })
}
