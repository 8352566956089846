import { linkKind } from '../kind.ts'

export const magicLink = linkKind({
  envSuffix: 'MAGIC_LINK',
  linkType: 'magiclink',
})
