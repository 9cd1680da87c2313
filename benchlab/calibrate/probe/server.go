package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// maxPageBytes bounds what the server says of itself.
const maxPageBytes = 8 << 20

func (p *Probe) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.base+path, body)
	if err != nil {
		return nil, err
	}
	if p.config.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+p.config.APIKey)
	}
	return r, nil
}

func (p *Probe) page(ctx context.Context, path string) ([]byte, error) {
	r, err := p.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	response, err := p.config.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxPageBytes))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: the server answered %s", path, response.Status)
	}
	return data, nil
}

// meet asks for the models, which gives the model's name and the round trip.
func (p *Probe) meet(ctx context.Context) error {
	for i := range 5 {
		begun := time.Now()
		data, err := p.page(ctx, "/v1/models")
		if err != nil {
			return err
		}
		if trip := time.Since(begun); i == 1 || i > 1 && trip < p.trip { // the first one connects
			p.trip = trip
		}
		var list struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return fmt.Errorf("GET /v1/models: %w", err)
		}
		if p.model == "" && len(list.Data) > 0 {
			p.model = list.Data[0].ID
		}
	}
	if p.model == "" {
		return errors.New("GET /v1/models lists no model; name one with --model")
	}
	return nil
}

var (
	cacheInfo = regexp.MustCompile(`(?m)^vllm:cache_config_info\{(.*)\} `)
	blockSize = regexp.MustCompile(`(?:^|,)block_size="(\d{1,6})"`)
	blocks    = regexp.MustCompile(`(?:^|,)num_gpu_blocks="(\d{1,9})"`)
)

// capacity reads block size and number from vLLM's metrics; 0 is unknown.
func (p *Probe) capacity(ctx context.Context) (blockTokens, kvBlocks int) {
	data, err := p.page(ctx, "/metrics")
	if err != nil {
		return 0, 0 // many servers have no such page, or one of their own
	}
	info := cacheInfo.FindSubmatch(data)
	if info == nil {
		return 0, 0
	}
	figure := func(r *regexp.Regexp) int {
		if m := r.FindSubmatch(info[1]); m != nil {
			if n, err := strconv.Atoi(string(m[1])); err == nil {
				return n
			}
		}
		return 0
	}
	return figure(blockSize), figure(blocks)
}
