/** Previews of every type of email with sample users. */
import type { SampleAddresses } from './kinds/definition.ts'
import { type EmailKind, emailKindDefinitions, mailKindNames } from './kinds/index.ts'
import type { MailRenderer, RenderedMail } from './render.ts'

export interface MailPreview extends RenderedMail {
  kind: EmailKind
}

/** Renders every type in one language with the given renderer, with custom templates if there are any. */
export function previewAll(
  renderer: MailRenderer,
  addresses: SampleAddresses,
  tag: string,
): Promise<MailPreview[]> {
  return Promise.all(
    mailKindNames.map(async (kind) => {
      const rendered = await renderer.render(
        kind,
        emailKindDefinitions[kind].sample(addresses),
        tag,
      )
      return { kind, ...rendered }
    }),
  )
}
