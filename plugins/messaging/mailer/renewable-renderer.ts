/** An email renderer that is rebuilt after subjects or templates changed. */
import type { MailRenderer } from '../../../mail/render.ts'

export function createRenewableRenderer(make: () => MailRenderer) {
  let current = make()
  const render: MailRenderer['render'] = (kind, variables, tag) =>
    current.render(kind, variables, tag)
  const renderer: MailRenderer = {
    render,
    readLocalTemplates: () => current.readLocalTemplates(),
    renewTemplates: () => current.renewTemplates(),
    reloadTemplates: () => current.reloadTemplates(),
  }
  return {
    ...renderer,
    renew(): void {
      current = make()
    },
  }
}
