/** Texts of the account page, which also uses those of the other hosted pages. */
import { getTexts, type Say, sayFrom, type TextName } from '../texts.ts'
import ar from './languages/ar.json' with { type: 'json' }
import de from './languages/de.json' with { type: 'json' }
import en from './languages/en.json' with { type: 'json' }
import es from './languages/es.json' with { type: 'json' }
import fr from './languages/fr.json' with { type: 'json' }
import it from './languages/it.json' with { type: 'json' }
import ja from './languages/ja.json' with { type: 'json' }
import nl from './languages/nl.json' with { type: 'json' }
import pl from './languages/pl.json' with { type: 'json' }
import ptBr from './languages/pt-BR.json' with { type: 'json' }
import tr from './languages/tr.json' with { type: 'json' }
import zhHans from './languages/zh-Hans.json' with { type: 'json' }

type OwnTextName = keyof typeof en
export type AccountTextName = OwnTextName | TextName
export type AccountSay = Say<AccountTextName>

const languages: Record<string, Record<OwnTextName, string>> = {
  ar,
  de,
  en,
  es,
  fr,
  it,
  ja,
  nl,
  pl,
  tr,
  'pt-BR': ptBr,
  'zh-Hans': zhHans,
}

/** English for a custom language. */
export function getAccountTexts(tag: string): AccountSay {
  const own = sayFrom(languages[tag] ?? en)
  const shared = getTexts(tag)
  return (name, values) => (isOwn(name) ? own(name, values) : shared(name, values))
}

const isOwn = (name: AccountTextName): name is OwnTextName => Object.hasOwn(en, name)
