/** Texts of the hosted pages, in the languages of the emails. */
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

export type TextName = keyof typeof en
type Texts = Record<TextName, string>

/** Returns a text with its placeholders replaced. */
export type Say<Name extends string = TextName> = (
  name: Name,
  values?: Readonly<Record<string, string>>,
) => string

const languages: Record<string, Texts> = {
  ar,
  de,
  en,
  es,
  fr,
  it,
  ja,
  nl,
  pl,
  'pt-BR': ptBr,
  tr,
  'zh-Hans': zhHans,
}

/** English for a custom language. */
export function getTexts(tag: string): Say {
  return sayFrom(languages[tag] ?? en)
}

/** Replaces the placeholders of these texts. */
export function sayFrom<Name extends string>(texts: Readonly<Record<Name, string>>): Say<Name> {
  return (name, values = {}) =>
    texts[name].replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
}
