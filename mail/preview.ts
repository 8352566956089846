/** Every kind of mail with made-up people, to be looked at. */
import { type MailKind, mailKindNames, mailKinds } from './kinds.ts'
import type { MailRenderer, RenderedMail } from './render.ts'
import type { SampleAddresses } from './sample.ts'

export interface MailPreview extends RenderedMail {
  kind: MailKind
  /** What is not as the operator meant it. */
  problems: string[]
}

/** Renders every kind in one language with the given renderer, so with the operator's own templates if it has them. */
export function previewAll(
  renderer: MailRenderer,
  addresses: SampleAddresses,
  tag: string,
): Promise<MailPreview[]> {
  return Promise.all(
    mailKindNames.map(async (kind) => {
      const rendered = await renderer.preview(kind, mailKinds[kind].sample(addresses), tag)
      return { kind, ...rendered }
    }),
  )
}
