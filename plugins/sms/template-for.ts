import type { Languages } from '../languages.ts'

/** A template that is the default is said in the language of whoever gets the message; the operator's is for all. */
export function templateFor(
  { speech, tagFor }: Pick<Languages, 'speech' | 'tagFor'>,
  template: string,
  reader: Readonly<Record<string, unknown>>,
): string {
  const isDefault = template === speech('en').texts.text_messages.code
  return isDefault ? speech(tagFor(reader)).texts.text_messages.code : template
}
