package page

// Page is a report before it is drawn. Texts are plain, never HTML.
type Page struct {
	Title string
	// Summary says in sentences what was found, the most important one first.
	Summary  []string
	Cautions []string // what to know before believing it
	Facts    []Fact   // what was run, in few words
	Series   []Series // what is compared, in the order of legends and tables
	// Sections are shown in turn.
	Sections []Section
}

// Fact is a name with what it stands for.
type Fact struct {
	Name  string
	Value string
}

// Series is one contender; charts and tables refer to it by its index. It has one
// colour everywhere, and the baseline has that of the text.
type Series struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline,omitempty"`
}

// Section is a part of the page with a title of its own.
type Section struct {
	ID    string // of the link to it: lower-case letters and dashes
	Title string
	Mark  string // a caution beside the title, such as "not reproducible"
	Lead  string // how to read what follows
	Facts []Fact
	// Charts come before Tables, Code and Notes.
	Charts     []Chart
	Tables     []Table
	Code       []string // commands, each in a box
	Notes      []string
	NotesTitle string // above the notes
}

// Table has one cell a column in each row.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
}

// Column is the head of a column. Columns of one group stand together below it.
type Column struct {
	Group string
	Head  string // with the unit
	Text  bool   // words, flush left; else numbers, flush right
}

// Row is a line of a table.
type Row struct {
	Series int // index of the series whose colour marks the row, -1 for none
	Cells  []Cell
}

// Cell is what a table shows at one place.
type Cell struct {
	Text     string   // "-" is what is unknown
	Interval string   // below the text, smaller
	Sort     float64  // rows are sorted by it in columns of numbers
	Unknown  bool     // sorted to the end
	Standing Standing // beside the baseline
}

// Standing is how a figure compares with the baseline's; it is also the class of
// the cell in the style sheet. The zero Standing says nothing.
type Standing string

// The standings, and the marks that show them.
const (
	Better Standing = "better" // +
	Worse  Standing = "worse"  // −
	Same   Standing = "same"   // ~, not distinguishable
)

// Mark returns the standing as one character, "" for the zero Standing.
func (c Cell) Mark() string {
	switch c.Standing {
	case Better:
		return "+"
	case Worse:
		return "−"
	case Same:
		return "~"
	}
	return ""
}
