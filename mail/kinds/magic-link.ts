import { linkKind } from './definition.ts'

export const magicLink = linkKind({
  envSuffix: 'MAGIC_LINK',
  linkType: 'magiclink',
})
